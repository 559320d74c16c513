import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { useTexts } from '#ui/use-texts.ts'
import type { Part } from './crop.ts'
import styles from './crop-dialog.module.css'
import { peopleTexts } from './people-texts.ts'

interface CropFrameProps {
  readonly picture: HTMLImageElement
  readonly part: Part
  /** Shows that the corners of the square are not seen. */
  readonly isRound: boolean
  /** By shares of the part. */
  readonly onMove: (x: number, y: number) => void
  /** By a factor. */
  readonly onZoom: (by: number) => void
}

type Pressed = JSX.TargetedPointerEvent<HTMLFieldSetElement>

const step = 0.05
const arrows: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-step, 0],
  ArrowRight: [step, 0],
  ArrowUp: [0, -step],
  ArrowDown: [0, step],
}
const zooms: Readonly<Record<string, number>> = { '+': 1.1, '=': 1.1, '-': 1 / 1.1 }

/** The part of the picture, in a frame over which the picture is dragged. */
export function CropFrame({ picture, part, isRound, onMove, onZoom }: CropFrameProps) {
  const t = useTexts(peopleTexts)
  const press = (event: KeyboardEvent) => {
    const by = arrows[event.key]
    const zoom = zooms[event.key]
    if (!by && zoom === undefined) return
    event.preventDefault()
    if (by) onMove(...by)
    if (zoom !== undefined) onZoom(zoom)
  }
  return (
    <fieldset
      class={styles.frame}
      style={{ aspectRatio: part.width / part.height }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys that move the picture go to the frame
      tabIndex={0}
      aria-label={t.cropFrame}
      onKeyDown={press}
      {...useDrag(onMove)}
      onWheel={(event) => {
        event.preventDefault()
        onZoom(event.deltaY < 0 ? 1.05 : 1 / 1.05)
      }}
    >
      <img
        src={picture.src}
        alt=""
        draggable={false}
        style={{
          width: `${(100 * picture.naturalWidth) / part.width}%`,
          height: `${(100 * picture.naturalHeight) / part.height}%`,
          left: `${(-100 * part.x) / part.width}%`,
          top: `${(-100 * part.y) / part.height}%`,
        }}
      />
      {isRound && <div class={styles.round} />}
    </fieldset>
  )
}

/** The handlers of an element on which a pointer drags, by shares of its size. */
function useDrag(onMove: CropFrameProps['onMove']) {
  const last = useRef<{ readonly x: number; readonly y: number }>()
  const release = () => {
    last.current = undefined
  }
  return {
    onPointerDown: ({ currentTarget, pointerId, clientX: x, clientY: y }: Pressed) => {
      currentTarget.setPointerCapture(pointerId)
      last.current = { x, y }
    },
    onPointerMove: ({ currentTarget, clientX: x, clientY: y }: Pressed) => {
      if (!last.current) return
      const { width, height } = currentTarget.getBoundingClientRect()
      onMove((last.current.x - x) / width, (last.current.y - y) / height)
      last.current = { x, y }
    },
    onPointerUp: release,
    onPointerCancel: release,
  }
}
