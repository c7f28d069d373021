export { countTokens } from "./CountTokens.ts"
export {
  type EncodingName,
  encodingNames,
  encodingOf,
  isEncodingName,
  type ModelEncoding
} from "./Encoding.ts"
export { type Envelope, envelopeOf } from "./Envelope.ts"
export { functionTokens } from "./FunctionTokens.ts"
export { imageTokens, type Pixels } from "./ImageTokens.ts"
export { tiktokenCounter, type TiktokenOptions } from "./Tiktoken.ts"
