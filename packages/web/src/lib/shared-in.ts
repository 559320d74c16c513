/** What another program hands over to the app: W3C, Web Share Target. */
export interface SharedIn {
  readonly title: string
  readonly text: string
  readonly url: string
  readonly files: readonly File[]
}

/** Where programs send it, as the manifest says. */
export const sharedInPath = '/new/shared'

/** In the place of its id, where it was more than the browser is to hold for the composer. */
export const tooLargeShare = 'too-large'

/** What a page asks the worker for, which is answered with it or with nothing through the port that comes along; without one it is let go. */
export interface SharedInWish {
  readonly kind: 'take-shared'
  readonly id: string
}

/** Title, text and address as lines; programs put the same into several of them. */
export function textOfShared({ title, text, url }: Omit<SharedIn, 'files'>): string {
  const parts = [title, text, url].map((part) => part.trim())
  const isSaid = (part: string, at: number) =>
    parts.some((other, index) => index !== at && other.includes(part) && (other !== part || index < at))
  return parts.filter((part, at) => part !== '' && !isSaid(part, at)).join('\n')
}
