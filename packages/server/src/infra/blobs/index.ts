export * from './blob-hash.ts'
export * from './blob-store.ts'
export * from './disk-blobs.ts'
