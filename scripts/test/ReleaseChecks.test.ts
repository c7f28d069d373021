import { expect, it } from "vitest"
import { problemsOf } from "../release-checks.ts"

const manifest = {
  name: "@varve/core",
  version: "1.0.0",
  repository: { type: "git", url: "git+https://example.com/varve.git" },
  publishConfig: { access: "public", provenance: true }
}
const ready = {
  manifests: [manifest],
  changesets: ["README.md", "config.json"],
  status: "",
  env: { ACTIONS_ID_TOKEN_REQUEST_URL: "https://example.com" }
}

it("lets a release go out where nothing is in its way", () => {
  expect(problemsOf(ready)).toEqual([])
  expect(problemsOf({ ...ready, env: { SIGSTORE_ID_TOKEN: "x" } })).toEqual([])
})

it.each([
  ["a changeset is pending", { changesets: ["core-first.md"] }, "npx changeset version"],
  ["the tree has changes", { status: " M README.md\n" }, "commit them"],
  [
    "there is no version",
    { manifests: [{ ...manifest, version: "0.0.0" }] },
    "npx changeset version: @varve/core"
  ],
  ["nobody can sign", { env: {} }, "id-token: write"],
  [
    "provenance is off",
    { manifests: [{ ...manifest, publishConfig: { access: "public" } }] },
    "publishConfig"
  ],
  [
    "the repository is not named",
    { manifests: [{ ...manifest, repository: undefined }] },
    "`repository`"
  ]
])("stops it where %s", (_, state, said) => {
  const problems = problemsOf({ ...ready, ...state })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(said)
})
