import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { decoderOf } from './input-decoding.ts'
import { type InputFault, inputFaultFinder } from './input-fault.ts'
import type { Schema } from './input-schema.ts'
import { tidyingOf } from './input-tidying.ts'

/** Checks a value against its schema and decodes it in place: defaults are put in, members that the schema does not
 * name are taken out. Throws `E-VALIDATION`, or the code of an unknown id for text that has not an id's form. */
export type InputCheck = (value: unknown) => void

/** Compiles the check of the parameters of one place (`/query`), whose name begins the issues' paths. */
export function compileInputCheck(schema: TSchema, place: string): InputCheck {
  const assertFits = formOf(schema, (pointer) => place + pointer)
  const decode = decoderOf(schema)
  return (values) => {
    assertFits(values)
    decode?.(values, place)
  }
}

/** Compiles the check of a JSON body, which answers the decoded body. */
export function compileBodyCheck(schema: TSchema): (parsed: unknown) => unknown {
  // As the member of an object a body can be a primitive, and be defaulted itself.
  const member = { type: 'object', properties: { body: schema }, required: ['body'] }
  const assertFits = formOf(member, (pointer) => pointer.slice('/body'.length))
  const decode = decoderOf(schema)
  return (parsed) => {
    const holder: { body?: unknown } = parsed === undefined ? {} : { body: parsed }
    assertFits(holder)
    return decode ? decode(holder.body, '') : holder.body
  }
}

function formOf(schema: Schema, pathOf: (pointer: string) => string): (value: unknown) => void {
  const tidy = tidyingOf(schema)
  const form = Compile<TSchema>(schema)
  let findFault: InputFault | undefined
  return (value) => {
    tidy?.(value)
    if (form.Check(value)) return
    findFault ??= inputFaultFinder(schema)
    throw findFault(value, pathOf)
  }
}
