import { inspect } from 'node:util'

/** What stands where a secret is left out. */
export const hidden = '[hidden]'

/** A text that is not shown by accident: printed, logged or as JSON it reads `[hidden]`. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text, for the one place that uses it. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [inspect.custom](): string {
    return hidden
  }
}
