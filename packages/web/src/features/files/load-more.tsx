import { useEffect, useRef } from 'preact/hooks'
import { Button } from '#ui/button.tsx'
import { useTexts } from '#ui/use-texts.ts'
import { filesTexts } from './files-texts.ts'

interface LoadMoreProps {
  readonly list: { readonly isFetchingNextPage: boolean; fetchNextPage(): unknown }
}

/** Loads the next page when its place comes near; a button does the same. */
export function LoadMore({ list }: LoadMoreProps) {
  const t = useTexts(filesTexts)
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = element.current
    if (!place || list.isFetchingNextPage) return
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && void list.fetchNextPage(),
      { rootMargin: '2400px' },
    )
    observer.observe(place)
    return () => observer.disconnect()
  }, [list.isFetchingNextPage, list.fetchNextPage])
  return (
    <div ref={element}>
      <Button isBusy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        {t.more}
      </Button>
    </div>
  )
}
