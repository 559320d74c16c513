/** The first steps of a person, in their order. */
export const stepNames = ['you', 'passkey', 'invite', 'install', 'push'] as const
export type StepName = (typeof stepNames)[number]

/** How far a person came, as far as nothing else tells it. */
export interface Progress {
  readonly done: readonly StepName[]
  readonly skipped: readonly StepName[]
  /** No longer wanted on the home page. */
  readonly isAside: boolean
}

/** The setting in which the account keeps it. */
export const progressSetting = 'ui.welcome'

/** What a setting says; nothing where it is not understood. */
export function readProgress(value: unknown): Progress {
  const given = parse(value)
  return {
    done: namesIn(given.done),
    skipped: namesIn(given.skipped),
    isAside: given.isAside === true,
  }
}

export function writeProgress(progress: Progress): string {
  return JSON.stringify(progress)
}

/** The steps that are neither done, by themselves or by what is `proven`, nor skipped. */
export function stepsLeft({ done, skipped }: Progress, proven: readonly StepName[]): readonly StepName[] {
  return stepNames.filter((name) => ![...done, ...skipped, ...proven].includes(name))
}

/** A step that is done is not skipped, and the other way round. */
export function marked(progress: Progress, as: 'done' | 'skipped', name: StepName): Progress {
  const without = (names: readonly StepName[]) => names.filter((other) => other !== name)
  const cleared = { ...progress, done: without(progress.done), skipped: without(progress.skipped) }
  return { ...cleared, [as]: [...cleared[as], name] }
}

function parse(value: unknown): Partial<Record<keyof Progress, unknown>> {
  try {
    const given: unknown = JSON.parse(String(value))
    return typeof given === 'object' && given !== null ? given : {}
  } catch {
    return {}
  }
}

function namesIn(value: unknown): readonly StepName[] {
  return Array.isArray(value) ? stepNames.filter((name) => value.includes(name)) : []
}
