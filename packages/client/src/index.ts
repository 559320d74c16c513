export {
  type Answered,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type UploadOptions,
} from './create-client.ts'
export { KithError } from './kith-error.ts'
export { randomId } from './random-id.ts'
export type { Bytes, UploadProgress } from './upload.ts'
export { type UploadFileOptions, uploadFile } from './upload-file.ts'
