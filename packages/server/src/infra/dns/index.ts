export * from './create-dns-resolver.ts'
export * from './dns-resolver.ts'
