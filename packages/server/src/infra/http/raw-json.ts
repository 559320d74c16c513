/** JSON text that goes into an answer as it was stored, without being parsed. It stands where the schema is a free
 * JSON value. The text must be valid JSON: it is not looked at again. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Makes it an ordinary value wherever else it is serialized. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** What may be answered for a value: the same, with `RawJson` in the place of free JSON. */
export type Outgoing<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : unknown extends Value
    ? unknown
    : string extends keyof Value
      ? Value | RawJson
      : { readonly [Key in keyof Value]: Outgoing<Value[Key]> }
