const hourSecs = 3600
const daySecs = 24 * hourSecs
const monthSecs = 30 * daySecs

/** The period, in seconds, of which the history of a document or a database keeps the last snapshot: the hour for a day, and the
 * day for a month. Undefined for older ones, of which it keeps none. */
export function keptPeriodSecs(ageSecs: number): number | undefined {
  if (ageSecs < daySecs) return hourSecs
  return ageSecs < monthSecs ? daySecs : undefined
}

/** At what age a snapshot comes to be kept by another period, or no longer, in seconds. */
export const keptPeriodChanges = [daySecs, monthSecs] as const
