/** What is wrong with a value, as the end of a sentence that begins with the variable's name. */
export class Problem {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** What a value or a default may depend on. */
export interface Surroundings {
  /** Where relative paths begin. */
  readonly cwd: string
  /** Whether a person reads the log as it is written. */
  readonly isTerminal: boolean
  /** The effective texts of the variables further up in the table. */
  readonly known: Readonly<Record<string, string | undefined>>
}

/** A text, in which `{DATA_DIR}` and the like stand for variables further up, or a rule that gives one. */
export type Default = string | ((surroundings: Surroundings) => string | undefined)

/** One row of the table: how a variable is read, and what the configuration page says about it. */
export interface Variable {
  readonly group: string
  /** Sentences in Markdown. */
  readonly meaning: string
  readonly default?: Default
  /** What the page says instead of the default's text. */
  readonly shownDefault?: string
  /** What of its value is never shown. */
  readonly secret?: 'whole' | 'credentials'
  /** An empty value counts as absent and never gets here. */
  parse(text: string, surroundings: Surroundings): unknown
}

/** What `parse` makes of a text that has no problem. */
export type Parsed<V extends Variable> = Exclude<ReturnType<V['parse']>, Problem>

/** Fills `{DATA_DIR}` and the like in; undefined when one of them has no value because it is wrong itself. */
export function defaultOf(variable: Variable, surroundings: Surroundings): string | undefined {
  if (typeof variable.default === 'function') return variable.default(surroundings)
  let isComplete = true
  const text = variable.default?.replace(/\{([A-Z_]+)\}/g, (_, name: string) => {
    const value = surroundings.known[name]
    isComplete &&= value !== undefined
    return value ?? ''
  })
  return isComplete ? text : undefined
}
