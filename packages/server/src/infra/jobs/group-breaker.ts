import type { GroupPolicy, JobKind } from './job-kind.ts'

/** What is remembered of a group between its jobs. */
export interface GroupState {
  /** In a row; jobs that are stopped for good by their handler count neither way. */
  readonly failures: number
  /** 0 when the breaker has not opened since the last success. */
  readonly restsUntilMs: number
  /** When a job of the group was last leased. */
  readonly servedAtMs: number
  /** How often the group was served: decides between groups that were served in the same millisecond. */
  readonly timesServed: number
}

/** What the group's jobs are doing now. */
export interface GroupLoad {
  readonly running: number
  /** The earliest time at which one of the waiting jobs may run; null when none waits. */
  readonly readyAtMs: number | null
}

export const newGroup: GroupState = { failures: 0, restsUntilMs: 0, servedAtMs: 0, timesServed: 0 }

export function afterSuccess(group: GroupState): GroupState {
  return { ...group, failures: 0, restsUntilMs: 0 }
}

/** Opens the breaker after `breakerFailures` failures in a row; each failed probe doubles the rest. */
export function afterFailure(group: GroupState, policy: GroupPolicy, nowMs: number): GroupState {
  // A job that was under way when the breaker opened says nothing new.
  if (nowMs < group.restsUntilMs) return group
  const failures = group.failures + 1
  const failedProbes = failures - policy.breakerFailures
  if (failedProbes < 0) return { ...group, failures }
  const restMs = Math.min(policy.longestRestMs, policy.restMs * 2 ** failedProbes)
  return { ...group, failures, restsUntilMs: nowMs + restMs }
}

export function afterServing(group: GroupState, nowMs: number): GroupState {
  return { ...group, servedAtMs: nowMs, timesServed: group.timesServed + 1 }
}

/** When the group may next be given a job: null while it has none or is busy. Groups are served in the order of these
 * times; a group that was just served stands behind those that have waited. */
export function claimAtMs(group: GroupState, policy: GroupPolicy, load: GroupLoad): number | null {
  if (load.readyAtMs === null) return null
  const isHalfOpen = group.failures >= policy.breakerFailures
  if (load.running >= (isHalfOpen ? 1 : policy.concurrency)) return null
  return Math.max(load.readyAtMs, group.restsUntilMs, group.servedAtMs)
}

/** Round robin between tenants: as many jobs at a time as there is room for, and no rest, since a tenant is no host. */
const tenantPolicy: GroupPolicy = {
  concurrency: Number.MAX_SAFE_INTEGER,
  breakerFailures: Number.MAX_SAFE_INTEGER,
  restMs: 0,
  longestRestMs: 0,
}
// For groups of a kind that an earlier version of the program gave a policy.
const noPolicy: GroupPolicy = {
  concurrency: 1,
  breakerFailures: 10,
  restMs: 60_000,
  longestRestMs: 3_600_000,
}

export function policyOf({ group }: JobKind): GroupPolicy {
  return group === 'by tenant' ? tenantPolicy : (group ?? noPolicy)
}
