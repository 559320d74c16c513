import { useEffect, useState } from 'preact/hooks'
import { loadBytes } from '#platform/remote-bytes.ts'

/** An address in this page of a picture of another identity's, for as long as it is shown. */
export function useRemotePicture(idTag: string, fileId: string, variant: 'tn' | 'sd' | 'hd') {
  const [address, setAddress] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const leaving = new AbortController()
    let made: string | undefined
    loadBytes(idTag, fileId, { variant, signal: leaving.signal }).then(
      (bytes) => {
        if (leaving.signal.aborted) return
        made = URL.createObjectURL(bytes)
        setAddress(made)
      },
      (failure: unknown) => leaving.signal.aborted || setError(failure),
    )
    return () => {
      leaving.abort()
      if (made !== undefined) URL.revokeObjectURL(made)
    }
  }, [idTag, fileId, variant])
  return { address, error }
}
