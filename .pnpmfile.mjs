// The `node-*` packages name their platform as a string; pnpm reads lists only, and would
// fetch every platform's Node. Lists make it fetch the one that fits.
const asList = (value) => (typeof value === "string" ? [value] : value)

export const hooks = {
  readPackage(manifest) {
    if (!/^node-(linux|win)-/.test(manifest.name ?? "")) return manifest
    return { ...manifest, os: asList(manifest.os), cpu: asList(manifest.cpu) }
  }
}
