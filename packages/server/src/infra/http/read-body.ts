import type { BodyOf, Contract } from '@kith/protocol'
import { inputReaderOf } from './request-input.ts'

/** Checks and decodes a JSON body as of a request, for what asks by another way. Throws `E-VALIDATION`. */
export function readBody<C extends Contract>(contract: C, parsed: unknown): BodyOf<C> {
  return inputReaderOf(contract).body(parsed) as BodyOf<C>
}
