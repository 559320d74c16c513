export * from './images.ts'
