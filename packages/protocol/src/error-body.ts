import Type, { type Static } from 'typebox'

/** The answer of a request that failed (docs/protocol/conventions.md, Answers). */
export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    details: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  time: Type.Integer({ description: 'Unix seconds' }),
  reqId: Type.String(),
})
export type ErrorBody = Static<typeof ErrorBody>
