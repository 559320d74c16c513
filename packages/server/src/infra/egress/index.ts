export * from './create-egress.ts'
export * from './egress.ts'
export type { PrivateNetworks } from './network-policy.ts'
export { maxRounds, Rounds } from './rounds.ts'
