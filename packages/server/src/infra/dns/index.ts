export * from './create-dns-resolver.ts'
export * from './dns-resolver.ts'
export { registrableDomain } from './registrable-domain.ts'
