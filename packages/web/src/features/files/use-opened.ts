import type { FileView } from '@kith/protocol'
import { useLocation, useSearchParams } from 'wouter-preact'

/** The file that the viewer shows stands in the address: going back closes it. */
export function useOpened() {
  const [query] = useSearchParams()
  const [path, navigate] = useLocation()
  const openedId = query.get('open') ?? undefined
  const addressOf = (fileId: string | undefined) => {
    const next = new URLSearchParams(query)
    if (fileId === undefined) next.delete('open')
    else next.set('open', fileId)
    return next.size > 0 ? `${path}?${next}` : path
  }
  return {
    openedId,
    /** Opens a file, or steps to another. */
    open: ({ fileId }: FileView) =>
      navigate(addressOf(fileId), { replace: openedId !== undefined, state: 'opened' }),
    close: () => {
      if (history.state === 'opened') history.back()
      else navigate(addressOf(undefined), { replace: true })
    },
  }
}
