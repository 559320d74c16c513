// Bound: formats × languages.
const made = new Map<string, unknown>()

/** A formatter of `Intl`, such as `Intl.NumberFormat`. Making one costs many times as much as using it, so each is made once. */
export function intlOf<Format, Options>(
  kind: new (locale: string, options?: Options) => Format,
  locale: string,
  options?: Options,
): Format {
  const key = JSON.stringify([kind.name, locale, options])
  const known = (made.get(key) as Format | undefined) ?? new kind(locale, options)
  made.set(key, known)
  return known
}
