export * from './bus.ts'
export * from './socket-closes.ts'
export * from './socket-contract.ts'
