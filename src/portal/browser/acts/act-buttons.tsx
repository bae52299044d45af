/** The acts of a place as buttons. */

import type { ButtonProps } from '@mantine/core';
import { useState } from 'react';
import type { Act, ActPlace } from '../../../school/acts/act-definition.js';
import type { IconName } from '../shell/icon';
import { lazyPart } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { type ActSubject, fillIn, sayAct, useActs } from './acts';

const ActDialog = lazyPart(async () => (await import('./act-dialog')).ActDialog);

export interface ActButtonsProps extends Pick<ButtonProps, 'size'> {
  readonly place: ActPlace;
  /** The record or row that the acts are about. */
  readonly subject?: ActSubject;
  /** The name of the record, where several have the same buttons. */
  readonly about?: string;
  /** Only the act of this name. */
  readonly only?: string;
  onDone?(): void;
}

const NOTHING: ActSubject = {};

export function ActButtons({ place, subject = NOTHING, about, only, size, onDone }: ActButtonsProps) {
  const acts = useActs(place).filter(({ name }) => only === undefined || name === only);
  const [chosen, setChosen] = useState<Act>();
  return (
    <>
      {acts.map((act) => (
        <TextButton
          key={act.name}
          label={sayAct(act, act.title)}
          icon={act.icon as IconName}
          {...(size && { size })}
          {...(about !== undefined && { 'aria-label': `${sayAct(act, act.title)} ${about}` })}
          {...(act.opens === undefined
            ? { onClick: () => setChosen(act) }
            : { to: fillIn(act.opens, subject, encodeURIComponent) })}
        />
      ))}
      {chosen && (
        <ActDialog
          act={chosen}
          subject={subject}
          onClose={() => setChosen(undefined)}
          onDone={() => {
            setChosen(undefined);
            onDone?.();
          }}
        />
      )}
    </>
  );
}
