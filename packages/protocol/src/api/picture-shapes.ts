import Type from 'typebox'

/** What clients lay a picture out with before its bytes are there. */
export const pictureMembers = {
  width: Type.Optional(
    Type.Integer({
      description: 'Of a picture that was processed: pixels, after its orientation was applied',
    }),
  ),
  height: Type.Optional(Type.Integer()),
  thumbhash: Type.Optional(
    Type.String({
      maxLength: 36,
      description:
        'A ThumbHash, base64: a blurred likeness to show until the bytes are there. Pictures that were processed before the server made any have none',
    }),
  ),
}
