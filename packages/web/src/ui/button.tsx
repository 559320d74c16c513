import type { ComponentChildren, JSX } from 'preact'
import styles from './button.module.css'
import { Icon } from './icon.tsx'
import type { IconName } from './icon-names.ts'
import { useServerReason } from './use-server-reason.ts'

interface ButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'disabled'> {
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  readonly icon?: IconName
  /** Keeps its place and focus, says that it works, and takes no second press. */
  readonly isBusy?: boolean
  /** Why it cannot be pressed now; undefined when it can. */
  readonly disabledWhy?: string | undefined
  /** Cannot be pressed while the server cannot be reached. So it is, unless it says otherwise, with whatever can be busy,
   * waiting for an answer, and with what destroys. */
  readonly needsServer?: boolean
  readonly children: ComponentChildren
}

export function Button(props: ButtonProps) {
  const {
    kind = 'plain',
    icon,
    isBusy,
    disabledWhy,
    needsServer,
    children,
    onClick,
    class: own,
    ...rest
  } = props
  const offWhy = useServerReason(needsServer ?? (isBusy !== undefined || kind === 'danger'))
  const why = disabledWhy ?? offWhy
  const isOff = isBusy || why !== undefined
  return (
    <button
      type="button"
      {...rest}
      class={[styles.button, styles[kind], own].filter(Boolean).join(' ')}
      aria-disabled={isOff ? 'true' : undefined}
      aria-busy={isBusy ? 'true' : undefined}
      title={why ?? rest.title}
      onClick={(event) => {
        if (isOff) return event.preventDefault()
        onClick?.(event)
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface IconButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'label'> {
  readonly icon: IconName
  /** Its name, for those who do not see the icon. */
  readonly label: string
  /** As of a button. */
  readonly needsServer?: boolean
}

export function IconButton({ icon, label, needsServer = false, class: own, ...rest }: IconButtonProps) {
  const why = useServerReason(needsServer)
  const classes = [styles.button, styles.quiet, styles.icon, own].filter(Boolean).join(' ')
  return (
    <button
      type="button"
      {...rest}
      {...(why === undefined ? {} : { 'aria-disabled': 'true', onClick: undefined })}
      class={classes}
      aria-label={label}
      title={why ?? label}
    >
      <Icon name={icon} />
    </button>
  )
}
