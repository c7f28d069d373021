// What stands in the way of a release.
import type { Manifest } from "./workspace.ts"

export interface ReleaseState {
  readonly manifests: ReadonlyArray<Manifest>
  /** Names of the files in `.changeset`. */
  readonly changesets: ReadonlyArray<string>
  /** What `git status --porcelain` says. */
  readonly status: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const isPublic = (config: unknown): boolean => {
  const { access, provenance } = (config ?? {}) as Readonly<Record<string, unknown>>
  return access === "public" && provenance === true
}

/** Each problem in one sentence with what to do; empty where a release may go out. */
export const problemsOf = ({
  changesets,
  env,
  manifests,
  status
}: ReleaseState): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const pending = changesets.filter((name) => name.endsWith(".md") && name !== "README.md")
  if (pending.length > 0) {
    problems.push(
      `${pending.length} changesets are not in a version yet. Run: npx changeset version`
    )
  }
  if (status.trim() !== "")
    problems.push("The working tree has changes: commit them, a release is of a commit.")
  const where = (is: (manifest: Manifest) => boolean, what: string): void => {
    const names = manifests.filter(is).map(({ name }) => name)
    if (names.length > 0) problems.push(`${what}: ${names.join(", ")}.`)
  }
  where(({ version }) => version === "0.0.0", "No version yet; run: npx changeset version")
  where(
    ({ publishConfig }) => !isPublic(publishConfig),
    'publishConfig is to be { "access": "public", "provenance": true }'
  )
  where(
    ({ repository }) => repository === undefined,
    "No `repository`, with which npm compares what provenance says"
  )
  const canSign =
    (env["ACTIONS_ID_TOKEN_REQUEST_URL"] ?? "") !== "" || (env["SIGSTORE_ID_TOKEN"] ?? "") !== ""
  if (!canSign) {
    problems.push(
      "Provenance is signed by a CI job that may ask for an identity: GitHub Actions with " +
        "`permissions: id-token: write`, or GitLab CI with SIGSTORE_ID_TOKEN."
    )
  }
  return problems
}
