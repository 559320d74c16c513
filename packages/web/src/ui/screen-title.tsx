import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** The heading of a screen, which has the focus when the screen is changed to. */
export function ScreenTitle({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    // Before other effects: a list that goes on where it was left takes the focus after this.
    // Not when the app opens: then the focus is where the browser begins.
    if (document.activeElement !== document.body || history.length > 1) heading.current?.focus()
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  )
}
