import fc from "fast-check"

/** Every run draws the same random cases; `VARVE_SEED` draws others. */
fc.configureGlobal({ seed: Number(process.env["VARVE_SEED"] ?? 1) })
