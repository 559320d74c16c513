import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import { Empty } from '#ui/empty.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'
import type { Uploading } from './use-uploading.tsx'

interface NoFilesProps {
  readonly place: string | undefined
  readonly search: string
  readonly tag: string | undefined
  readonly uploading: Uploading
}

/** What a place without files says. */
export function NoFiles({ place, search, tag, uploading }: NoFilesProps) {
  const t = useTexts(filesTexts)
  const toFiles = (
    <ButtonLink href="/files" icon="folder">
      {t.toFiles}
    </ButtonLink>
  )
  if (search)
    return (
      <Empty icon="search" title={t.nothingFound(search)}>
        {t.nothingFoundWhy}
      </Empty>
    )
  if (tag !== undefined) return <Empty icon="tag" title={t.tagged(tag)} />
  if (place === 'trash')
    return (
      <Empty icon="trash-2" title={t.emptyTrash} step={toFiles}>
        {t.emptyTrashWhy}
      </Empty>
    )
  const whys: Readonly<Record<string, string>> = {
    recent: t.emptyRecent,
    starred: t.emptyStarred,
    pinned: t.emptyPinned,
    received: t.emptyReceived,
  }
  const why = place === undefined ? undefined : whys[place]
  const upload = (
    <Button icon="upload" onClick={() => uploading.choose('files')}>
      {t.chooseFiles}
    </Button>
  )
  return (
    <Empty icon="folder-open" title={t.emptyHere} step={why ? toFiles : upload}>
      {why ?? (place === undefined ? t.emptyHereWhy : t.emptyFolderWhy)}
    </Empty>
  )
}
