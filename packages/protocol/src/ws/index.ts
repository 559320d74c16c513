export * from './bus.ts'
export * from './socket-closes.ts'
