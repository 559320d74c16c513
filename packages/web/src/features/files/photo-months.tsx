import type { FileView, MonthCount } from '@kith/protocol'
import { useInfiniteQuery } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { extended, noSelection, type Selection, toggled } from '#lib/selection.ts'
import { createTypeAhead } from '#lib/type-ahead.ts'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'
import { OpenedFile } from './opened-file.tsx'
import { photoAfter } from './photo-keys.ts'
import { PhotoMonth } from './photo-month.tsx'
import styles from './photos.module.css'
import { hasPhoto, loadAllPhotos, loadedPhotos, photosOf, wholeMonth } from './photos-query.ts'
import { type OpenMenu, RowMenu } from './row-menu.tsx'
import { Scrubber } from './scrubber.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { useFileTasks } from './use-file-tasks.tsx'
import type { RowActions } from './use-gestures.ts'
import { useMonthName } from './use-month-name.ts'
import { useOpened } from './use-opened.ts'
import { useRun } from './use-run.ts'

/** The months one below the other, what is selected of them, and the scrubber beside them. */
export function PhotoMonths({ months }: { readonly months: readonly MonthCount[] }) {
  const t = useTexts(filesTexts)
  const nameOf = useMonthName()
  const run = useRun()
  const { openedId, open, close } = useOpened()
  const [menu, setMenu] = useState<OpenMenu>()
  const [active, setActive] = useState<string>()
  const { selection, setSelection, toggle, selectAll } = usePhotoSelection(months)
  const tasks = useFileTasks(() => setSelection(noSelection))
  const actions: RowActions = {
    open,
    toggle,
    menu: (file, at) => setMenu({ file, at }),
    focus: ({ fileId }) => setActive(fileId),
  }
  const about = { tasks, isTrash: false, open }
  return (
    <div class={styles.months}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the pictures in it are buttons; arrow keys move between them */}
      <div
        class="stack"
        onKeyDown={(event) => onKey(event, { selection, setSelection, toggle, selectAll, tasks, months })}
      >
        {months.map(({ month, count }) => (
          <PhotoMonth
            key={month}
            month={month}
            name={nameOf(month)}
            about={t.photosOf(count)}
            {...{ count, active, selection, actions }}
          />
        ))}
        {selection.chosen.size > 0 && (
          <SelectionBar
            {...{ selection, ...about }}
            files={loadedPhotos(months)}
            onSelection={setSelection}
            onAll={() => void run(selectAll)}
          />
        )}
      </div>
      {months.length > 1 && <Scrubber months={months} />}
      {menu && <RowMenu {...menu} {...about} onClose={() => setMenu(undefined)} />}
      {openedId !== undefined && (
        <OpenedPhoto
          {...{ months, openedId, open, close }}
          onShare={(file) => tasks.ask({ kind: 'share', file })}
        />
      )}
      {tasks.dialog}
    </div>
  )
}

function usePhotoSelection(months: readonly MonthCount[]) {
  const [selection, setSelection] = useState<Selection>(noSelection)
  const order = () => loadedPhotos(months).map(({ fileId }) => fileId)
  return {
    selection,
    setSelection,
    toggle: ({ fileId }: FileView, how: 'one' | 'range') =>
      setSelection(how === 'one' ? toggled(selection, fileId) : extended(selection, fileId, order())),
    /** Loads what is not there yet: all means all. */
    selectAll: async () => {
      const all = await loadAllPhotos(months)
      setSelection({ chosen: new Set(all.map(({ fileId }) => fileId)), anchor: selection.anchor })
    },
  }
}

interface KeyContext extends ReturnType<typeof usePhotoSelection> {
  readonly months: readonly MonthCount[]
  readonly tasks: ReturnType<typeof useFileTasks>
}

function onKey(event: KeyboardEvent & { readonly currentTarget: HTMLElement }, context: KeyContext): void {
  const { selection, setSelection, selectAll, months, tasks } = context
  const fileOf = (element: Element | null | undefined) => {
    const fileId = element instanceof HTMLElement ? element.dataset.photo : undefined
    return loadedPhotos(months).find((file) => file.fileId === fileId)
  }
  if (event.key === 'Escape' && selection.chosen.size > 0) {
    event.preventDefault()
    setSelection(noSelection)
    return
  }
  const present = fileOf(document.activeElement)
  if (!present) return
  const target = photoAfter(event, event.currentTarget) ?? photoNamed(event, present, months)
  if (event.key === 'a' && (event.ctrlKey || event.metaKey)) void selectAll().catch(() => undefined)
  else if (event.key === 'Delete') void tasks.trash([present])
  else if (target) {
    target.focus()
    const file = fileOf(target)
    if (event.shiftKey && file) {
      const begun = selection.anchor === undefined ? toggled(selection, present.fileId) : selection
      const order = loadedPhotos(months).map(({ fileId }) => fileId)
      setSelection(extended(begun, file.fileId, order))
    }
  } else return
  event.preventDefault()
}

const typeAhead = createTypeAhead()

/** Letters lead to the next picture whose name begins with them; they are no shortcuts then. */
function photoNamed(
  event: KeyboardEvent & { readonly currentTarget: HTMLElement },
  from: FileView,
  months: readonly MonthCount[],
): HTMLElement | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  const files = loadedPhotos(months)
  const names = files.map(({ fileName }) => fileName)
  const found = typeAhead.find(event.key, { names, from: files.indexOf(from), nowMs: event.timeStamp })
  if (found === undefined) return undefined
  event.stopPropagation()
  const photos = [...event.currentTarget.querySelectorAll<HTMLElement>('button[data-photo]')]
  return photos.find(({ dataset }) => dataset.photo === files[found]?.fileId)
}

interface OpenedPhotoProps {
  readonly months: readonly MonthCount[]
  readonly openedId: string
  readonly open: (file: FileView) => void
  readonly close: () => void
  readonly onShare: (file: FileView) => void
}

/** The viewer steps through a month and into those beside it; what comes next is loaded before it is asked for. */
function OpenedPhoto({ months, openedId, ...viewer }: OpenedPhotoProps) {
  const at = Math.max(
    0,
    months.findIndex(({ month }) => hasPhoto(month, openedId)),
  )
  const photos = useInfiniteQuery(photosOf(months[at]?.month ?? ''))
  const files = photos.data?.pages.flatMap((page) => page.files) ?? []
  const isAtEnd = files.at(-1)?.fileId === openedId
  const isWhole = photos.data !== undefined && !photos.hasNextPage
  const later = months[at + 1]?.month
  const next = useInfiniteQuery({
    ...photosOf(later ?? ''),
    enabled: later !== undefined && isAtEnd && isWhole,
  })
  const fetchNext = useRef(photos.fetchNextPage)
  fetchNext.current = photos.fetchNextPage
  useEffect(() => {
    if (isAtEnd && photos.hasNextPage) void fetchNext.current()
  }, [isAtEnd, photos.hasNextPage])
  const before = wholeMonth(months[at - 1]?.month)
  const after = isWhole ? (next.data?.pages.flatMap((page) => page.files) ?? []) : []
  return <OpenedFile files={[...before, ...files, ...after]} openedId={openedId} {...viewer} />
}
