<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

/**
 * Waits for a job on all queues that a worker watches.
 *
 * A worker with `--queue=high,low` asks for each queue in turn, but a queue is not told which others
 * follow. To wait for the first would leave the others' jobs lying. So the queues of a round that found
 * nothing are remembered; when a later round has asked for the same ones in vain too, its last question
 * waits for all of them at once.
 */
trait WatchesQueues
{
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

        $round = [...$this->round, $queue];
        $waits = $this->blockFor > 0 && $round === $this->watched;

        // A job ends the round, and so does an exception.
        $this->round = [];
        $job = $waits ? $this->claim($round, $this->blockFor) : $this->claim([$queue], 0);

        if ($job === null) {
            $this->round = $round;
        }

        return $job;
    }
}
