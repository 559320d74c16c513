export type {
  Config,
  EffectiveVariable,
  MasterKeyLocation,
  S3Credentials,
  TlsConfig,
} from './config.ts'
export { ConfigError } from './config.ts'
export { type PublicUrl, publicUrlOf } from './public-url.ts'
export { type ReadConfigOptions, readConfig } from './read-config.ts'
export type { BlobLocation, DatabaseLocation, S3Location } from './storage.ts'
export type { ListenAddress } from './value-parsers.ts'
export type { Variable } from './variable.ts'
export { type VariableName, variables } from './variables.ts'
