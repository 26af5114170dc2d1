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
    /** Seconds to wait in one go: for the only queue, or for the last of several. */
    private const TURN = ['only' => 1.0, 'last' => 0.2];

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
        $turn = self::TURN[$others === [] ? 'only' : 'last'];
        $deadline = microtime(true) + $this->blockFor;

        do {
            $job = $this->claim($last, min($turn, max(0.0, $deadline - microtime(true))));

            foreach ($others as $queue) {
                $job ??= $this->claim($queue, 0.0);
            }
        } while ($job === null && microtime(true) < $deadline && ! $this->workerShouldQuit());

        return $job;
    }

    /**
     * A signal ends the wait in the extension early, but may as well arrive between two of them.
     */
    private function workerShouldQuit(): bool
    {
        return $this->container->resolved('queue.worker')
            && $this->container->make('queue.worker')->shouldQuit;
    }
}
