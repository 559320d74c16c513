import { useEffect, useState } from 'preact/hooks'

/** Whether the window is as a media query wants it. */
export function useMedia(query: string): boolean {
  const [isSo, setSo] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const heed = () => setSo(list.matches)
    heed()
    list.addEventListener('change', heed)
    return () => list.removeEventListener('change', heed)
  }, [query])
  return isSo
}
