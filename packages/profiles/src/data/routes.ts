import type { ProviderLimits } from "@varve/core/Profile"

/** A host that serves other providers' models under limits of its own. */
export interface Route {
  readonly names: ReadonlyArray<string>
  /** Laid over the model's own limits; the second table for one provider's models only. */
  readonly limits: ProviderLimits
  readonly of?: Readonly<Record<string, ProviderLimits>>
  /** True where it wants a user's message first, whatever the model. */
  readonly startsWithUser?: boolean
  readonly source: string
}

/** Amazon Bedrock: 20 images a message (table of pi-ai 1.6.0); requests a little under what fails in practice. */
export const bedrock: Route = {
  names: ["amazon-bedrock", "bedrock", "bedrock_converse", "aws-bedrock", "aws"],
  limits: { imagesPerMessage: 20 },
  startsWithUser: true,
  of: { anthropic: { bytesPerImage: 5_242_880, requestBytes: 11_000_000 } },
  source:
    "limits on Amazon Bedrock: Anthropic's vision guide and quickstarts, table of pi-ai 1.6.0; first role from memory"
}

/** Google Vertex AI. */
export const vertex: Route = {
  names: [
    "google-vertex",
    "google-vertex-anthropic",
    "vertex",
    "vertex_ai",
    "vertex_ai_beta",
    "vertex-ai"
  ],
  limits: {},
  of: { anthropic: { bytesPerImage: 5_242_880, requestBytes: 18_000_000 } },
  source: "limits on Vertex AI: Anthropic's vision guide and quickstarts"
}
