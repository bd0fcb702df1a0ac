-- Whether an AWS line of this operation repeats a part of the cost of the instance that a container ran on: split cost
-- allocation data. FargatePod and FargateTask are costs of their own.
-- Source: AWS CUR user guide, "Understanding split cost allocation data".
create or replace macro focus.aws_is_split_row(operation) as
    coalesce(operation in ('EKSPod-EC2', 'ECSTask-EC2'), false)
