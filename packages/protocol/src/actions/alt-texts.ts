import Type from 'typebox'

/** `content.alt`: what attached pictures show, by file id, for those who do not see them. Empty: it only decorates. */
export const AltTexts = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: 1_500 }), {
    maxProperties: 50,
    description: 'Alternative texts of attachments by their file id, an extension',
  }),
)
