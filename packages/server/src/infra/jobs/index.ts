export * from './job-kind.ts'
