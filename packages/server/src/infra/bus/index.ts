export { openLocalBus } from './local-bus.ts'
export type { NodeBus } from './node-bus.ts'
export { openRedisBus } from './redis-bus.ts'
