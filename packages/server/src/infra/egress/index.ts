export * from './create-egress.ts'
export * from './egress.ts'
export { LoopGuard, maxLoops } from './loop-guard.ts'
export type { PrivateNetworks } from './network-policy.ts'
