import fc from 'fast-check'

/** Text of any code points, also such that no text has. `fc.string` of unit `binary` takes seconds to be made. */
export const anyText = fc
  .array(fc.nat(0x10ffff), { maxLength: 40 })
  .map((points) => String.fromCodePoint(...points))
