import { useEffect, useState } from 'preact/hooks'

// Typing at 300 characters a minute makes a pause of 200 ms between two.
const pauseMs = 250

/** A text once it no longer changes. */
export function usePaused(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
