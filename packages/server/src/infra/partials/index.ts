export * from './partial-files.ts'
