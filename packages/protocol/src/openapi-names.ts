import type { TSchema } from 'typebox'
import { type Json, plainSchema } from './openapi-content.ts'

/** Puts references in the place of schemas that have a name, wherever they stand, so that generated types have names too.
 * A schema is recognized by its content: what is made optional is a copy. */
export class SchemaNames {
  /** By the text of the schema. Of two names for the same the first counts. */
  readonly #names = new Map<string, string>()
  readonly #schemas = new Map<string, Json>()

  constructor(named: Readonly<Record<string, TSchema>>) {
    for (const [name, schema] of Object.entries(named)) {
      const plain = plainSchema(schema)
      const text = JSON.stringify(plain)
      if (this.#names.has(text)) continue
      this.#names.set(text, name)
      this.#schemas.set(name, plain)
    }
  }

  /** The part of a document, with references. */
  refer(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((item) => this.refer(item))
    if (typeof part !== 'object' || part === null) return part
    const name = this.#names.get(JSON.stringify(part))
    return name === undefined ? this.#referWithin(part) : { $ref: `#/components/schemas/${name}` }
  }

  /** For `components.schemas`. */
  definitions(): Json {
    return Object.fromEntries([...this.#schemas].map(([name, schema]) => [name, this.#referWithin(schema)]))
  }

  #referWithin(part: object): Json {
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, this.refer(value)]))
  }
}
