<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use BackedEnum;
use DateInterval;
use DateTimeInterface;
use Illuminate\Contracts\Queue\ClearableQueue;
use Illuminate\Contracts\Queue\Queue as QueueContract;
use Illuminate\Queue\Attributes\Delay;
use Illuminate\Queue\Queue;
use ReflectionMethod;
use ReflectionParameter;
use UnitEnum;

/**
 * Laravel's queue on the functions of the extension.
 *
 * What a queue guarantees is the extension's business; this class only translates.
 */
final class AskrQueue extends Queue implements QueueContract, ClearableQueue
{
    use InspectsJobs;
    use WatchesQueues;

    /**
     * The framework alone decides when a job was tried often enough (`tries`, `retryUntil`, …), so the
     * extension must never think so first.
     */
    public const MAX_ATTEMPTS = PHP_INT_MAX;

    /**
     * @param string|UnitEnum $default the queue of jobs that name none
     * @param int $retryAfter seconds for which a worker reserves a job
     * @param int $blockFor seconds for which a pop may wait for a job
     * @param int $priority of jobs that do not say theirs
     */
    public function __construct(
        private readonly string|UnitEnum $default = 'default',
        private readonly int $retryAfter = 60,
        private readonly int $blockFor = 0,
        private readonly int $priority = 0,
        bool $afterCommit = false,
    ) {
        $this->dispatchAfterCommit = $afterCommit;
    }

    /**
     * @param string|object $job
     * @param mixed $data
     * @param UnitEnum|string|null $queue
     * @return int|null the job's id; null while it waits for a commit
     */
    public function push($job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data),
            $queue,
            null,
            fn (string $payload, $queue): int => $this->store($payload, $queue, 0, $this->priorityOf($job)),
        );
    }

    /**
     * @param DateTimeInterface|DateInterval|int $delay
     * @param string|object $job
     * @param mixed $data
     * @param UnitEnum|string|null $queue
     * @return int|null the job's id; null while it waits for a commit
     */
    public function later($delay, $job, $data = '', $queue = null)
    {
        return $this->enqueueUsing(
            $job,
            $this->createPayload($job, $this->getQueue($queue), $data, $delay),
            $queue,
            $delay,
            fn (string $payload, $queue, $delay): int => $this->store(
                $payload,
                $queue,
                $this->secondsFor($delay),
                $this->priorityOf($job),
            ),
        );
    }

    /**
     * @param string $payload
     * @param UnitEnum|string|null $queue
     * @param array<string, mixed> $options "priority"; without it, the one that the payload carries
     */
    public function pushRaw($payload, $queue = null, array $options = []): int
    {
        $priority = $options['priority'] ?? json_decode($payload, true)['priority'] ?? $this->priority;

        return $this->store($payload, $queue, 0, (int) $priority);
    }

    /**
     * Pushes many jobs: one transaction for all that have the same delay and priority.
     *
     * @param array<string|object>|string|object $jobs
     * @param mixed $data
     * @param UnitEnum|string|null $queue
     */
    public function bulk($jobs, $data = '', $queue = null): void
    {
        $name = $this->getQueue($queue);
        $now = [];
        $afterCommit = [];

        foreach ((array) $jobs as $job) {
            $delay = $this->delayOf($job);
            $record = [
                'queue' => $name,
                'job' => $job,
                'payload' => $this->createPayload($job, $name, $data, $delay),
                'delay' => $delay,
            ];

            if ($this->shouldDispatchAfterCommit($job) && $this->container->bound('db.transactions')) {
                $afterCommit[] = $record;
            } else {
                $now[] = $record;
            }
        }

        $this->storeMany($name, $now);

        if ($afterCommit !== []) {
            if (method_exists($this, 'registerRollbackCallbacksForJobsThatDispatchAfterCommit')) {
                foreach ($afterCommit as ['job' => $job]) {
                    $this->registerRollbackCallbacksForJobsThatDispatchAfterCommit($job);
                }
            }

            $this->container->make('db.transactions')
                ->addCallback(fn () => $this->storeMany($name, $afterCommit));
        }
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    public function pop($queue = null): ?AskrJob
    {
        return $this->popWatched($this->getQueue($queue));
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    public function clear($queue = null): int
    {
        return askr_queue_clear($this->getQueue($queue));
    }

    /**
     * The name of the given queue, or of the default one.
     *
     * @param UnitEnum|string|null $queue
     */
    public function getQueue($queue): string
    {
        $queue = $queue ?: $this->default;
        $name = match (true) {
            $queue instanceof BackedEnum => (string) $queue->value,
            $queue instanceof UnitEnum => $queue->name,
            default => $queue,
        };

        // Laravel 13 lets an application forward a queue to another.
        return method_exists($this, 'resolveQueue') ? $this->resolveQueue($name) : $name;
    }

    /**
     * Keeps the job's priority in its payload, so that it still has it when it is retried after it failed.
     *
     * @param string|object $job
     * @param string $queue
     * @param mixed $data
     * @return array<string, mixed>
     */
    protected function createPayloadArray($job, $queue, $data = ''): array
    {
        $payload = parent::createPayloadArray($job, $queue, $data);

        return $job instanceof HasPriority ? [...$payload, 'priority' => $job->priority()] : $payload;
    }

    /**
     * @param list<string> $queues in the order in which they are looked at
     * @param int $wait seconds to wait for a job; a signal ends the wait early
     */
    private function claim(array $queues, int $wait): ?AskrJob
    {
        $claim = askr_queue_pop_any($queues, $this->retryAfter, $wait);

        return $claim === null ? null : new AskrJob(
            $this->container,
            $this->connectionName,
            $claim['queue'],
            $claim['id'],
            $claim['attempts'],
            $claim['payload'],
            $this->retryAfter,
        );
    }

    /**
     * @param UnitEnum|string|null $queue
     */
    private function store(string $payload, $queue, int $delay, int $priority): int
    {
        return askr_queue_push($this->getQueue($queue), $payload, $delay, $priority, self::MAX_ATTEMPTS);
    }

    /**
     * @param list<array{queue: string, job: mixed, payload: string, delay: mixed}> $records
     */
    private function storeMany(string $queue, array $records): void
    {
        $groups = [];
        foreach ($records as $record) {
            $this->announce('raiseJobQueueingEvent', $record);
            $delay = $record['delay'] === null ? 0 : $this->secondsFor($record['delay']);
            $groups[$delay][$this->priorityOf($record['job'])][] = $record;
        }

        foreach ($groups as $delay => $priorities) {
            foreach ($priorities as $priority => $group) {
                $payloads = array_column($group, 'payload');
                $ids = askr_queue_push_many($queue, $payloads, $delay, $priority, self::MAX_ATTEMPTS);

                foreach ($group as $i => $record) {
                    $this->announce('raiseJobQueuedEvent', [...$record, 'jobId' => $ids[$i]]);
                }
            }
        }
    }

    /**
     * Calls one of the framework's methods that raise an event. Laravel 10's take fewer arguments.
     *
     * @param array<string, mixed> $arguments by name
     */
    private function announce(string $raise, array $arguments): void
    {
        $taken = array_map(
            static fn (ReflectionParameter $parameter): string => $parameter->getName(),
            (new ReflectionMethod($this, $raise))->getParameters(),
        );

        $this->{$raise}(...array_intersect_key($arguments, array_flip($taken)));
    }

    private function priorityOf(mixed $job): int
    {
        return $job instanceof HasPriority ? $job->priority() : $this->priority;
    }

    /**
     * @return DateTimeInterface|DateInterval|int|null
     */
    private function delayOf(mixed $job): mixed
    {
        if (! is_object($job)) {
            return null;
        }

        // Newer versions of Laravel also read the delay from an attribute of the job's class.
        return method_exists($this, 'getAttributeValue')
            ? $this->getAttributeValue($job, Delay::class, 'delay')
            : ($job->delay ?? null);
    }

    /**
     * @param DateTimeInterface|DateInterval|int $delay
     */
    private function secondsFor(mixed $delay): int
    {
        return max(0, $this->secondsUntil($delay));
    }
}
