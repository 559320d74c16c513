import type { ComponentChildren } from 'preact'
import { mediaAccess, mediaAddress, saveMedia } from '#platform/media.ts'
import { useStore } from './use-store.ts'

interface MediaLinkProps {
  readonly fileId: string
  readonly fileName: string
  readonly class?: string | undefined
  readonly children: ComponentChildren
}

/** A link with which the browser saves a file. */
export function MediaLink({ fileId, fileName, children, ...rest }: MediaLinkProps) {
  const access = useStore(mediaAccess)
  const href = access && mediaAddress(fileId, access, { download: '1' })
  return (
    <a
      {...rest}
      href={href}
      download={fileName}
      rel="noopener"
      onClick={(event) => {
        event.preventDefault()
        if (href !== undefined) void saveMedia(href, fileName)
      }}
    >
      {children}
    </a>
  )
}
