import { type FileView, listFiles } from '@kith/protocol'
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { formatBytes } from '#lib/format.ts'
import { capMarks } from '#lib/shown-text.ts'
import { client } from '#platform/client.ts'
import { mediaAccess, mediaAddress } from '#platform/media.ts'
import { Button } from '#ui/button.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { Field } from '#ui/field.tsx'
import { Icon } from '#ui/icon.tsx'
import { Loading } from '#ui/loading.tsx'
import { Problem } from '#ui/problem.tsx'
import { useStore } from '#ui/use-store.ts'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { composeTexts } from './compose-texts.ts'
import { type DraftFile, draftFileOf, isPicture } from './draft.ts'
import styles from './file-picker.module.css'
import { usePaused } from './suggestions.ts'

function ownFiles(search: string) {
  return infiniteQueryOptions({
    queryKey: ['compose', 'files', search],
    queryFn: async ({ pageParam, signal }) => {
      const named = search === '' ? {} : { search }
      const order = { sort: 'created', sortDir: 'desc', fileTp: ['BLOB'], limit: 30 } as const
      const query = { ...order, ...named, ...(pageParam === '' ? {} : { cursor: pageParam }) }
      const { data, cursorPagination } = await client.call(listFiles, { query }, { signal })
      return { files: data as readonly FileView[], next: cursorPagination?.nextCursor ?? undefined }
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
}

interface FilePickerProps {
  /** What the post has already. */
  readonly taken: ReadonlySet<string>
  readonly onAdd: (files: readonly DraftFile[]) => void
  readonly onClose: () => void
}

/** Chooses from the files that are on the server, the newest first. */
export function FilePicker({ taken, onAdd, onClose }: FilePickerProps) {
  const t = useTexts(composeTexts)
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState<ReadonlyMap<string, FileView>>(new Map())
  const list = useInfiniteQuery(ownFiles(usePaused(search.trim())))
  const files = list.data?.pages.flatMap((page) => page.files) ?? []
  const offered = files.filter(({ fileId }) => !taken.has(fileId))
  const toggle = (file: FileView) => {
    const next = new Map(chosen)
    if (!next.delete(file.fileId)) next.set(file.fileId, file)
    setChosen(next)
  }
  return (
    <Dialog title={t.fromFiles} onClose={onClose}>
      <div class="stack">
        <Field
          label={t.searchFiles}
          type="search"
          value={search}
          maxLength={200}
          autocomplete="off"
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {list.isPending && <Loading heights={[56, 56, 56]} />}
        {list.error && <Problem error={list.error} onAgain={() => void list.refetch()} />}
        {list.data && offered.length === 0 && <p class="soft">{t.noFiles}</p>}
        <ul class={styles.files} aria-label={t.fromFiles}>
          {offered.map((file) => (
            <Offered
              key={file.fileId}
              file={file}
              isChosen={chosen.has(file.fileId)}
              onToggle={() => toggle(file)}
            />
          ))}
        </ul>
        {list.hasNextPage && (
          <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t.moreFiles}
          </Button>
        )}
        <div class={styles.foot}>
          <Button
            kind="primary"
            icon="plus"
            disabledWhy={chosen.size === 0 ? t.chooseFiles : undefined}
            onClick={() => onAdd([...chosen.values()].map(draftFileOf))}
          >
            {t.addChosen(chosen.size)}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

interface OfferedProps {
  readonly file: FileView
  readonly isChosen: boolean
  readonly onToggle: () => void
}

function Offered({ file, isChosen, onToggle }: OfferedProps) {
  const locale = useLocale()
  const access = useStore(mediaAccess)
  const { fileId, fileName, size } = file
  return (
    <li>
      <label class={styles.file}>
        <input type="checkbox" checked={isChosen} onChange={onToggle} aria-label={capMarks(fileName)} />
        <span class={styles.preview}>
          {isPicture(file) && access !== undefined ? (
            <img src={mediaAddress(fileId, access, { variant: 'tn' })} alt="" loading="lazy" />
          ) : (
            <Icon name="file" />
          )}
        </span>
        <span class={styles.name}>
          <bdi>{capMarks(fileName)}</bdi>
          {size !== undefined && <span class="soft">{formatBytes(size, locale)}</span>}
        </span>
      </label>
    </li>
  )
}
