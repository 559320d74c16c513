export * from './disk-reserve.ts'
export * from './disk-space.ts'
export * from './fresh-paths.ts'
