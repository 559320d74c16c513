export type {
  AcmeConfig,
  Config,
  MasterKeyLocation,
  S3Credentials,
  TlsConfig,
} from './config.ts'
export { allowsPlainHttp, ConfigError, getsCertificates, servedAddressOf } from './config.ts'
export { publicUrlOf, soleHostOf } from './public-url.ts'
export { readConfig } from './read-config.ts'
export type { S3Location } from './storage.ts'
export { describeUnknown } from './unknown-variables.ts'
export type { ListenAddress } from './value-parsers.ts'
export type { Variable } from './variable.ts'
export { variables } from './variables.ts'
