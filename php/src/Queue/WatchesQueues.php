<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

/**
 * Waits for a job on all queues that a worker watches.
 *
 * A worker with `--queue=high,low` asks for each queue in turn, but a queue is not told which others
 * follow. To wait for the first would leave the others' jobs lying. So the queues of a round that found
 * nothing are remembered; when a later round has asked for the same ones in vain too, its last question
 * waits, and looks at all of them meanwhile.
 */
trait WatchesQueues
{
    /** Seconds to wait for one of several queues before the others are looked at again. */
    private const TURN = 0.2;

    /** @var list<string> the queues that were asked in this round */
    private array $round = [];

    /** @var list<string> the queues of the last round that found nothing */
    private array $watched = [];

    private function popWatched(string $queue): ?AskrJob
    {
        if (in_array($queue, $this->round, true)) {
            $this->watched = $this->round;
            $this->round = [];
        }

        $this->round[] = $queue;
        $job = $this->claim($queue, 0.0);

        if ($job === null && $this->blockFor > 0 && $this->round === $this->watched) {
            $job = $this->wait();
        }

        if ($job !== null) {
            $this->round = [];
        }

        return $job;
    }

    private function wait(): ?AskrJob
    {
        $others = array_slice($this->watched, 0, -1);
        $last = end($this->watched);
        $turn = $others === [] ? (float) $this->blockFor : self::TURN;
        $deadline = microtime(true) + $this->blockFor;

        do {
            $turnStarted = microtime(true);
            $job = $this->claim($last, $turn);

            foreach ($others as $queue) {
                $job ??= $this->claim($queue, 0.0);
            }

            // A wait that ended early was ended by a signal, which the worker wants to act upon.
            $interrupted = microtime(true) - $turnStarted < $turn;
        } while ($job === null && ! $interrupted && microtime(true) < $deadline);

        return $job;
    }
}
