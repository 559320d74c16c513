export { yieldPoolThreads } from './yield-pool-threads.ts'
