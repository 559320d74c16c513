import type { JSX } from 'preact'
import { navigate } from 'wouter-preact/use-browser-location'

interface LinkProps extends Omit<JSX.IntrinsicElements['a'], 'href'> {
  readonly href: string
  /** Takes the place of the present address in the history. */
  readonly replace?: boolean
  /** Kept with the address in the history. */
  readonly state?: unknown
}

/** A link to a screen. It listens to nothing: there are some in every line of a list. */
export function Link({ href, replace = false, state, onClick, ...rest }: LinkProps) {
  const follow = (event: JSX.TargetedMouseEvent<HTMLAnchorElement>) => {
    const { ctrlKey, metaKey, altKey, shiftKey, button } = event
    // The browser's own: another tab, another window, saving.
    if (ctrlKey || metaKey || altKey || shiftKey || button !== 0) return
    onClick?.(event)
    if (event.defaultPrevented) return
    event.preventDefault()
    navigate(href, { replace, state })
  }
  return <a {...rest} href={href} onClick={follow} />
}
